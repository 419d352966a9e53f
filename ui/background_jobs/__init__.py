"""Jobs of this app: the kinds, the worker of this process, and how a page shows one."""
