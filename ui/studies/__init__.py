"""Parts of the coordinator's page of reader studies: planning, creating a study, and viewing one."""
