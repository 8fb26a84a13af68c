// Name of the file that `tatami release` creates in the data directory to signal a running server. Only the operator can create files
// there.
export const releaseFile = 'release';
