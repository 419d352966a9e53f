"""A study's report on its page: computed behind it, kept, and shown figure by figure."""
