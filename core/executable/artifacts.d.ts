// What the build makes for the executable; an import gives the path in it.
declare module 'artifact:*' {
  const path: string;
  export default path;
}
