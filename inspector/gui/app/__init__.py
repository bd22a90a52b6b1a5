"""The main window: actions, menus, tabs, sessions, the start of the program."""
