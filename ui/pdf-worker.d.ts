/** The part of pdf.js that parses. It has no types; only its presence counts. */
declare module 'pdfjs-dist/build/pdf.worker.mjs' {
  export const WorkerMessageHandler: unknown
}
