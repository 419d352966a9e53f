"""The report of a study on its page: computed in the background, stored, and shown figure by figure."""
