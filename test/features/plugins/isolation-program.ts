// Handler of the plugins in the isolation tests: it runs a small program from the description of the issue.

export type Read = Readonly<{ by: 'id' | 'identifier' | 'list' | 'page' | 'kv' | 'keys'; of: string }>;
/** A run counts the urgent issues that it reads, waits at the gate, and writes if the count is in range. */
export type Program = Readonly<{
  reads: readonly Read[];
  writesIf: { atLeast?: number; atMost?: number };
  write: { update?: string; to?: 'urgent' | 'low'; createUnder?: string; set?: string };
}>;

/** Source of the `issue.created` handler. @param name name of the plugin whose program it runs */
export const handler = (name: string) => `async (event, ctx) => {
  const program = JSON.parse(event.data.description || '{}').${name};
  if (!program) return;
  let urgent = 0;
  for (const { by, of } of program.reads) {
    if (by === 'list') urgent += (await ctx.issues.list({ parent: of, priority: 'urgent' })).data.length;
    else if (by === 'page') {
      const { data, pageInfo } = await ctx.issues.list({ parent: of, priority: 'urgent', limit: 1 });
      urgent += data.length + (pageInfo.hasNextPage ? 1 : 0);
    } else if (by === 'kv') urgent += (await ctx.kv.get(of)) === 'urgent' ? 1 : 0;
    else if (by === 'keys') urgent += (await ctx.kv.list({ prefix: of })).data.length;
    else {
      const found = await ctx.issues.get(of).catch(() => null);
      urgent += found?.priority === 'urgent' ? 1 : 0;
    }
  }
  await ctx.kv.get('gate');
  const { atLeast = 0, atMost = 1000 } = program.writesIf;
  if (urgent < atLeast || urgent > atMost) return;
  const { update, to, createUnder, set } = program.write;
  if (update) await ctx.issues.update(update, { priority: to });
  if (createUnder) await ctx.issues.create({ team: 'ENG', title: 'made', parentId: createUnder, priority: 'urgent' });
  if (set) await ctx.kv.set(set, 'urgent');
}`;
