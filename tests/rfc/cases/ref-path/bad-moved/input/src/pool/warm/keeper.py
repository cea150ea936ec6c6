"""Keeps."""
