"""The prior over questions: how many bits the text of a question is."""
