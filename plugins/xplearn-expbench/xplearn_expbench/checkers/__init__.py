"""checkers"""
