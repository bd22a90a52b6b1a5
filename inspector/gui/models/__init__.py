"""Disposable views of rows that the worker holds; they keep no facts of their own."""
