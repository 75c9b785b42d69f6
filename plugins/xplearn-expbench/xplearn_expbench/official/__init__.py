"""official"""
