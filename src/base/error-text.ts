/** The statuses of error responses. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 406
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 416
  | 423
  | 429
  | 460
  | 500
  | 501
  | 502
  | 503
  | 504
  | 507

interface Text {
  readonly title: string
  readonly help: string
}

export interface ErrorText extends Text {
  readonly status: ErrorStatus
}

/** Codes that have one status. */
export const withStatus = <const C extends string>(status: ErrorStatus, codes: Readonly<Record<C, Text>>) =>
  Object.fromEntries(Object.entries<Text>(codes).map(([code, text]) => [code, { status, ...text }])) as Readonly<
    Record<C, ErrorText>
  >
