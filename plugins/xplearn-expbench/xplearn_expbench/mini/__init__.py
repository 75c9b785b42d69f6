"""mini"""
