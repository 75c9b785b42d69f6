"""What runs in the interpreter that a program gets: standard library only, started by path, so that any Python from 3.11 on will do."""
