"""Values exchanged between the window and its workers, and the requests that workers answer."""
