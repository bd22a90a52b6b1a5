"""Members written into a folder, safely."""
