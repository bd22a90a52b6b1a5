"""The application, its window and what surrounds the archives in it: tabs, docks, tool bar, sessions."""
