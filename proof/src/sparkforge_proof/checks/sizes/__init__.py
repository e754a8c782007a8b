"""Checks for faults at certain sizes: more than 2^31 elements, many rows, long texts, empty groups, odd heads.

A check belongs here if the operator may be correct for smaller or rounder sizes.
"""
