"""The chains of the demo, one module each: named steps that make a published benchmark half-way, by services."""
