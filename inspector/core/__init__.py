"""The nouns everything else is made of; standard library only."""
