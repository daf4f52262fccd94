"""What each technique buys in a scenario, what it costs, and when it stops paying; and how its numbers are made."""
