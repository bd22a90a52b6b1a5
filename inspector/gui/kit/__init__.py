"""Theme, icons, settings, widgets and base models that know nothing of archives."""
