"""What goes between the rooms: the question that is asked, and the report that answers it."""
