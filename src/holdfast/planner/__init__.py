"""Planner: how many questions, how narrow, how many rows, every mechanism side by side."""
