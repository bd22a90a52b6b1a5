"""The application and its main window: actions, menus, tabs, sessions."""
