package main

import "github.com/spf13/cobra"

// The groups of commands in the help.
const (
	groupRun  = "run"
	groupAsk  = "ask"
	groupTool = "tool"
)

func newRoot(sh *shell) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "murmurate",
		Short: "A rate limiter that runs as a cluster of equals",
		Long: `Murmurate limits how often something may happen: API calls per customer, log-in
attempts per address, jobs per tenant. Its nodes find each other, agree on which
of them counts each key, and any of them answers any check.

To try it, start one node and ask it:

  murmurate serve
  curl -i localhost:7380/v1/check -d '{"policy":"default","key":"me"}'

or watch a whole cluster in one process:

  murmurate demo`,
		Example: `  murmurate serve --config murmurate.yaml
  murmurate check user:42 --policy api && echo allowed
  murmurate members`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	onlyCommands(root)
	root.RunE = action(func(cmd *cobra.Command, _ []string) error {
		if version {
			return sh.printVersion()
		}
		return cmd.Help()
	})
	root.Flags().BoolVar(&version, "version", false, "print the version of this program")
	root.SetFlagErrorFunc(nearestFlag)
	root.PersistentFlags().VarP(&sh.output, "output", "o", "how to print results: table or json")
	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Run nodes:"},
		&cobra.Group{ID: groupAsk, Title: "Ask a running node:"},
		&cobra.Group{ID: groupTool, Title: "Tools:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupRun, newServe(sh), newDemo(sh))
	add(groupAsk, newCheck(sh), newQuota(sh), newReset(sh), newOverride(sh), newMembers(sh), newRing(sh), newHealthcheck(sh))
	add(groupTool, newConfig(sh), newVersion(sh))
	addTools(root)
	strictHelp(sh, root)
	return root
}
