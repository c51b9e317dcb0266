"""Builds the graph."""
from __future__ import annotations
from agent_reach.graph.infer import candidate_edges
from agent_reach.records.graph import AGENT_NODE, Edge, EdgeEvidence
class ToolGraph:
    @classmethod
    def build(cls, catalog, traces=None, **k):
        g=cls(); g.edges=[]
        for (a,b),c in candidate_edges(catalog.tools).items():
            g.edges.append(Edge(source=catalog.tools[a].key,target=catalog.tools[b].key,score=c.score,trusted=c.score>.4,evidence=EdgeEvidence(structural=c.score,bindings=c.bindings)))
        return g
