"""Members on the disk, safely."""
