// SPDX-License-Identifier: GPL-3.0-or-later
def load
def store
def dot
def reduce
def scan
