# Labels that a test's text asks for, as "label: NAME": `threads` (run under the thread sanitizer too), `sanitize` (run by
# tools/test with the address sanitizer) and `all` (run by `tools/test all` only). Another name, or a name that the end of the
# line splits from "label:", is an error: the test would run where its author did not want it to. So is a test that no build would
# run: only builds with sanitizers have failpoints, and of `all` they run what asks for `sanitize`.
function(tide_labels out source group)
  set(labels ${group})
  set(begin "[Ll]abel *:|[Ll]abels *: *(threads|sanitize|all)")
  file(STRINGS ${source} lines REGEX "${begin}")
  foreach(line IN LISTS lines)
    string(REPLACE ";" "," line "${line}")
    string(REGEX REPLACE "(${begin})" "\n\\1" line "${line}") # a line may ask for several
    string(REGEX MATCHALL "[Ll]abels? *:[^\n]*" asked "${line}")
    foreach(one IN LISTS asked)
      if(NOT one MATCHES "^label: (threads|sanitize|all)([^A-Za-z0-9_-]|$)")
        message(FATAL_ERROR "${source}: a malformed label, or one split from its name: \"${line}\"")
      endif()
      list(APPEND labels ${CMAKE_MATCH_1})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES labels)
  file(STRINGS ${source} skipped REGEX "no failpoints.*exit 77")
  if(skipped AND ";${labels};" MATCHES ";all;" AND NOT ";${labels};" MATCHES ";sanitize;")
    message(FATAL_ERROR "${source}: without failpoints it is skipped, and no build with them runs it: label it `sanitize`, too")
  endif()
  set(${out} "${labels}" PARENT_SCOPE)
endfunction()
