# CPack runs this when all files are in their places. With SOURCE_DATE_EPOCH (tools/release) each gets that time,
# so that two packages of the same files are equal.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
