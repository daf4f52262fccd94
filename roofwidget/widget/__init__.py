"""The model as traits, and the screen that shows it."""
