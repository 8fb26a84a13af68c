// Artifacts that the build embeds in the executable; an import yields the path of the embedded file.
declare module 'artifact:*' {
  const path: string;
  export default path;
}
