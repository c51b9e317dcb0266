"""`python -m agent_reach` is the command `agent-reach`."""

from agent_reach.cli.main import main

if __name__ == "__main__":
    main()
