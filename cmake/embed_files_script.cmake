# Run by embed_files() at build time. String literals are cut into pieces: compilers limit the length of one.

set(source "#include \"devices/embedded_file.hpp\"\n")
if(INCLUDE)
  string(APPEND source "#include \"${INCLUDE}\"\n")
endif()
string(APPEND source "\nnamespace convladder {\n"
              "const std::vector<EmbeddedFile>& embedded_${NAME}();\n"
              "const std::vector<EmbeddedFile>& embedded_${NAME}() {\n"
              "  static const std::vector<EmbeddedFile> files = {\n")
foreach(file IN LISTS FILES)
  get_filename_component(base "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(LENGTH "${hex}" length)
  # Characters as octal-free hex escapes would swallow following digits, so every byte is an integer instead.
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(REGEX REPLACE "((.......){32})" "\\1\n      " bytes "${bytes}")
  if(length EQUAL 0)
    string(APPEND source "    {\"${base}\", std::string()},\n")
  else()
    string(APPEND source "    {\"${base}\", std::string{\n      ${bytes}}},\n")
  endif()
endforeach()
string(APPEND source "  };\n  return files;\n}\n")
if(REGISTRATION)
  string(APPEND source "namespace {\nconst auto registration = ${REGISTRATION};\n}  // namespace\n")
endif()
string(APPEND source "}  // namespace convladder\n")
file(WRITE "${OUTPUT}" "${source}")
