"""Reports: records of a run turned into files and lines that people and programs read; no figure is computed here."""
