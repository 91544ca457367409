// Languages of code that are in files of their own: the name of the file, and other names of the language.

/** Of highlight.js. */
const NAMES = `
  1c abnf accesslog actionscript/as ada angelscript/asc apache/apacheconf applescript/osascript arcade arduino/ino
  armasm/arm asciidoc/adoc aspectj autohotkey/ahk autoit avrasm awk axapta/x++ basic bnf brainfuck/bf cal
  capnproto/capnp ceylon clean/icl/dcl clojure-repl clojure/clj/edn cmake/cmake.in coffeescript/coffee/cson/iced
  coq cos/cls crmsh/crm/pcmk crystal/cr csp d dart delphi/dpr/dfm/pas/pascal django/jinja dns/bind/zone
  dockerfile/docker dos/bat/batch/cmd dsconfig dts dust/dst ebnf elixir/ex/exs elm erb erlang-repl erlang/erl
  excel/xlsx/xls fix flix fortran/f90/f95 freedesktop/desktop/systemd fsharp/fs/f# gams/gms gauss/gss gcode/nc
  gherkin/feature glsl gml golo gradle groovy haml handlebars/hbs/html.hbs/html.handlebars/htmlbars haskell/hs
  haxe/hx hsp http/https hy/hylang inform7/i7 irpf90 isbl jboss-cli/wildfly-cli julia-repl/jldoctest julia
  lasso/ls/lassoscript latex/tex ldif leaf lisp livecodeserver livescript/ls llvm lsl mathematica/mma/wl matlab
  maxima mel mercury/m/moo mipsasm/mips mizar mojolicious monkey moonscript/moon n1ql nestedtext/nt
  nginx/nginxconf nim nix/nixos node-repl nsis ocaml/ml openscad/scad oxygene parser3 pf/pf.conf
  pgsql/postgres/postgresql pony powershell/pwsh/ps/ps1 processing/pde profile prolog properties protobuf/proto
  puppet/pp purebasic/pb/pbi q/k/kdb qml/qt reasonml/re rib roboconf/graph/instances routeros/mikrotik rsl
  ruleslanguage sas scala scheme/scm scilab/sci smali smalltalk/st sml/ml sqf stan/stanfuncs stata/do/ado
  step21/p21/step/stp stylus/styl subunit taggerscript tap tcl/tk thrift tp twig/craftcms vala vbscript-html
  vbscript/vbs verilog/v/sv/svh vhdl vim wren x86asm xl/tao xquery/xpath/xq/xqm zephir/zep`;

/** Of Prism, for the languages and the names that highlight.js does not know. */
const GRAMMARS = `
  abap agda al antlr4/g4 apex apl aql arff armasm/arm-asm arturo/art asm6502 asmatmel aspnet avisynth/avs
  avro-idl/avdl awk/gawk bbcode/shortcode bbj bicep birb bison bnf/rbnf bqn brightscript bro bsl/oscript
  cfscript/cfc chaiscript cil cilkc/cilk-c cilkcpp/cilk/cilk-cpp cobol concurnas/conc cooklang csharp/dotnet
  cshtml/razor csv cue cypher dataweave dax dhall django/jinja2 dns-zone-file/dns-zone dot/gv editorconfig eiffel
  ejs/eta etlua excel-formula factor false firestore-security-rules flow ftl gap gdscript gedcom gettext/po git
  gml/gamemakerlanguage gn/gni go-module/go-mod handlebars/mustache hcl hlsl hoon hpkp hsts ichigojam icon
  icu-message-format idris/idr iecst ignore/gitignore/hgignore/npmignore io j javadoc javastacktrace jexl jolie jq
  jsdoc json/webmanifest jsstacktrace keepalived keyman kumir/kum kusto latex/context latte lilypond/ly
  linker-script/ld liquid lisp/elisp/emacs/emacs-lisp log lolcode magma markup/mathml/ssml mata maxscript mermaid
  metafont mongodb n4js/n4jsd nand2tetris-hdl naniscript/nani nasm neon nevod odin opencl openqasm/qasm oz parigp
  parser pascal/objectpascal pascaligo pcaxis/px peoplecode/pcode phpdoc plant-uml/plantuml plsql
  powerquery/mscript/pq promql psl pug pure purebasic/pbfasm purescript/purs qore qsharp/qs racket/rkt reason regex
  rego renpy/rpy rescript/res rest rip robotframework/robot sass shell-session/sh-session smarty sml/smlnj
  solidity/sol solution-file/sln soy sparql/rq splunk-spl squirrel supercollider/sclang t4-cs/t4 t4-vb textile
  tremor/trickle/troy tt2 turtle/trig typoscript/tsconfig unrealscript/uc/uscript uorazor uri/url velocity
  visual-basic/vba warpscript web-idl/webidl wgsl wiki wolfram/nb xeora/xeoracube xojo yang zig`;

/** The file of each name, that of the first language that has the name. */
function filesOf(names) {
  const files = new Map();
  for (const [file, ...others] of names.trim().split(/\s+/).map((each) => each.split("/"))) {
    for (const name of [file, ...others]) if (!files.has(name)) files.set(name, file);
  }
  return files;
}

const FILES = filesOf(NAMES);
const GRAMMAR_FILES = filesOf(GRAMMARS);

/** The file of a language; undefined for one that highlight.js does not know. */
export const fileOf = (language) => FILES.get(language);

/** The file of a language that only Prism knows; undefined for one that it does not know. */
export const grammarOf = (language) => GRAMMAR_FILES.get(language);
