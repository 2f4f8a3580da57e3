"""The ways to reach a model, behind one small protocol."""
