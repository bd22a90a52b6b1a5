"""The actions of the window: how menus are laid out, and what is done, or asked for first, when one is chosen."""
