package policy

import "slices"

// clone is a copy of p that shares nothing with it that could be changed.
func (p *Policy) clone() Policy {
	c := *p
	c.Match = p.Match.clone()
	c.Key = slices.Clone(p.Key)
	c.Limits = slices.Clone(p.Limits)
	c.Tiers.Sets = slices.Clone(p.Tiers.Sets)
	for i := range c.Tiers.Sets {
		c.Tiers.Sets[i].Limits = slices.Clone(p.Tiers.Sets[i].Limits)
	}
	c.Overrides = slices.Clone(p.Overrides)
	for i := range c.Overrides {
		c.Overrides[i].Limits = slices.Clone(p.Overrides[i].Limits)
	}
	c.Exempt = slices.Clone(p.Exempt)
	for i := range c.Exempt {
		c.Exempt[i].Match = p.Exempt[i].clone()
	}
	c.Cost.ByMethod = slices.Clone(p.Cost.ByMethod)
	return c
}

func (m *Match) clone() Match {
	c := *m
	c.Method = slices.Clone(m.Method)
	c.Header = slices.Clone(m.Header)
	c.Query = slices.Clone(m.Query)
	c.Attribute = slices.Clone(m.Attribute)
	return c
}
