"""People who come by a link that is given to many: from a crowd platform, a course, a mailing list."""
