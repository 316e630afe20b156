"""Mechanisms: frozen values that answer questions. Only `respond` ever receives the sample."""
