"""What everything stands on: files and folders, processes, short names, dice, messages and languages."""
