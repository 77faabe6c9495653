# Run by embed_files() at build time. The assembler reads the files: as literals they would take the compiler longer
# than most of the program's own sources. NAME is a part of the symbols, so that several such sources may become one
# translation unit.

set(data "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  if(RELATIVE_TO)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${RELATIVE_TO}" OUTPUT_VARIABLE base)
  else()
    get_filename_component(base "${file}" NAME)
  endif()
  set(symbol "convladder_embedded_${NAME}_${number}")
  string(APPEND data "asm(R\"(.pushsection .rodata\n"
                     "${symbol}: .incbin \"${file}\"\n"
                     "${symbol}_end: .popsection)\");\n"
                     "extern \"C\" const char ${symbol}[] [[gnu::visibility(\"hidden\")]];\n"
                     "extern \"C\" const char ${symbol}_end[] [[gnu::visibility(\"hidden\")]];\n")
  string(APPEND entries "    {\"${base}\", std::string(${symbol}, ${symbol}_end)},\n")
  math(EXPR number "${number} + 1")
endforeach()

set(source "#include \"support/file_bytes.hpp\"\n")
if(INCLUDE)
  string(APPEND source "#include \"${INCLUDE}\"\n")
endif()
string(APPEND source "\n${data}\nnamespace convladder {\n"
              "const std::vector<EmbeddedFile>& embedded_${NAME}();\n"
              "const std::vector<EmbeddedFile>& embedded_${NAME}() {\n"
              "  static const std::vector<EmbeddedFile> files = {\n${entries}  };\n"
              "  return files;\n}\n")
if(REGISTRATION)
  string(APPEND source "namespace {\nconst auto registration_of_${NAME} = ${REGISTRATION};\n}  // namespace\n")
endif()
string(APPEND source "}  // namespace convladder\n")
file(WRITE "${OUTPUT}" "${source}")
