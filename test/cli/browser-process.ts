// A browser of few words, for BROWSER: opens the address that it is given, and follows wherever that leads.
const { status } = await fetch(process.argv[2] ?? '');
process.exit(status === 200 ? 0 : 1);
export {};
