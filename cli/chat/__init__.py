"""`dflash-mlx chat`: what is typed, what is obeyed, how a reply is drawn."""
