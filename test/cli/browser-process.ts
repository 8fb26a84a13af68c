// Minimal browser for BROWSER: opens the given address and follows redirects.
const { status } = await fetch(process.argv[2] ?? '');
process.exit(status === 200 ? 0 : 1);
export {};
