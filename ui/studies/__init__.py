"""What the coordinator's page of reader studies is made of: planning, making one, looking at one."""
