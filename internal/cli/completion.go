package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"loupe/internal/cli/command"
)

// newCompletionCommand is a function because what it prints depends on the
// list of commands, which it is in.
func newCompletionCommand() *command.Command {
	return &command.Command{
		Name:  "completion",
		Short: "print a shell completion script",
		Args:  "bash|zsh|fish|pwsh",
		Example: []string{
			"source <(loupe completion bash)                     in ~/.bashrc",
			"loupe completion zsh > \"${fpath[1]}/_loupe\"         once",
			"loupe completion fish > ~/.config/fish/completions/loupe.fish",
			"loupe completion pwsh | Out-String | Invoke-Expression",
		},
		Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
			return func(e *command.Env, args []string) error {
				shell, err := command.OneArg(args, "the shell")
				if err != nil {
					return err
				}
				write, ok := map[string]func(io.Writer){
					"bash": completeBash, "zsh": completeZsh, "fish": completeFish, "pwsh": completePwsh,
				}[shell]
				if !ok {
					return command.Usagef("unknown shell %q: there are bash, zsh, fish and pwsh", shell)
				}
				write(e.Stdout)
				return nil
			}
		},
	}
}

// eachFlag visits the flags that the help lists.
func eachFlag(c *command.Command, visit func(name, usage string)) {
	fs := c.Flags()
	fs.VisitAll(func(f *flag.Flag) {
		if !fs.Quiet[f.Name] {
			_, usage := flag.UnquoteUsage(f)
			usage, _, _ = strings.Cut(usage, "\n")
			visit(f.Name, usage)
		}
	})
}

func flagWords(c *command.Command) string {
	var words []string
	eachFlag(c, func(name, _ string) { words = append(words, "-"+name) })
	return strings.Join(words, " ")
}

func commandNames() string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.Name)
	}
	return strings.Join(append(names, "help"), " ")
}

func completeBash(w io.Writer) {
	fmt.Fprintf(w, `_loupe() {
	local cur=${COMP_WORDS[COMP_CWORD]} flags=
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W %q -- "$cur"))
		return
	fi
	case ${COMP_WORDS[1]} in
`, commandNames())
	for _, c := range commands() {
		fmt.Fprintf(w, "\t%s) flags=%q ;;\n", c.Name, flagWords(c))
	}
	fmt.Fprintf(w, `	help) flags=%q ;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
	*)
		COMPREPLY=($(compgen -f -- "$cur"))
		[ "${COMP_WORDS[1]}" = help ] && COMPREPLY=($(compgen -W "$flags" -- "$cur"))
		;;
	esac
}
complete -o filenames -F _loupe loupe
`, commandNames())
}

// quoteZsh makes a description safe inside '…[…]'.
func quoteZsh(s string) string {
	return strings.NewReplacer("'", "’", "[", "(", "]", ")", ":", "\\:").Replace(s)
}

func completeZsh(w io.Writer) {
	fmt.Fprint(w, "#compdef loupe\n_loupe() {\n\tlocal -a commands\n\tcommands=(\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "\t\t'%s:%s'\n", c.Name, quoteZsh(c.Short))
	}
	fmt.Fprint(w, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "\t%s) _arguments", c.Name)
		eachFlag(c, func(name, usage string) { fmt.Fprintf(w, " '-%s[%s]'", name, quoteZsh(usage)) })
		fmt.Fprint(w, " '*:file:_files' ;;\n")
	}
	fmt.Fprint(w, "\thelp) _describe command commands ;;\n\tesac\n}\n[ \"$funcstack[1]\" = _loupe ] && _loupe \"$@\" || compdef _loupe loupe\n")
}

func completeFish(w io.Writer) {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "\\'") + "'" }
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c loupe -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, quote(c.Short))
		eachFlag(c, func(name, usage string) {
			fmt.Fprintf(w, "complete -c loupe -n '__fish_seen_subcommand_from %s' -o %s -d %s\n", c.Name, name, quote(usage))
		})
	}
	fmt.Fprintf(w, "complete -c loupe -n '__fish_seen_subcommand_from help' -f -a %s\n", quote(commandNames()))
}

func completePwsh(w io.Writer) {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	fmt.Fprint(w, "Register-ArgumentCompleter -Native -CommandName loupe -ScriptBlock {\n\tparam($word, $ast, $position)\n\t$words = @{\n")
	for _, c := range commands() {
		var flags []string
		eachFlag(c, func(name, _ string) { flags = append(flags, quote("-"+name)) })
		fmt.Fprintf(w, "\t\t%s = @(%s)\n", quote(c.Name), strings.Join(flags, ", "))
	}
	fmt.Fprint(w, `	}
	$before = $ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() }
	$choices = if (@($before).Count -le 1) { $words.Keys } else { $words[@($before)[1]] }
	$choices | Where-Object { $_ -like "$word*" } | Sort-Object | ForEach-Object {
		[System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
	}
}
`)
}
