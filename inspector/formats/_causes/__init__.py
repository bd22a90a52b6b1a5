"""Why an archive is damaged: one cause for many findings, found by looking at the file as a whole.

The same for all formats. Nothing here changes what the findings say or the state that follows from them: a cause
explains. All of it runs only where something is wrong or the format is unknown.
"""
