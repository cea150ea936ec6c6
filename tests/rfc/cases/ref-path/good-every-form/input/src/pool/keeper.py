warm = 1
