import sql1 from '../migrations/0001-baseline.sql' with { type: 'text' };

export const all = [{ name: '0001-baseline', sql: sql1 }];
