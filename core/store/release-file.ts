// How the operator's word reaches a running server: a file of this name in its data directory, which only the operator can make.
export const releaseFile = 'release';
