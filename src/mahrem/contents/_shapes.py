"""Content that its writing alone gives away: addresses of machines and mailboxes, codes, plates, coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.contents._distinct import DistinctCells
from mahrem.contents._findings import ContentFinding
from mahrem.contents._numbers import SURPRISING, VIN
from mahrem.contents._distinct import surprise
from mahrem.types import Mask

__all__ = ["IpAddress", "Plate", "Shape", "VehicleNumber"]

FEW = 4  # distinct values below which a loose shape proves nothing


@dataclass(frozen=True)
class Shape:
    """Recognise values by a pattern that little else fits.

    Guarantees:
        - The share is that of rows whose value fits the pattern.
    """

    kind: str
    pattern: str
    within: str = ""  # the same inside a longer text
    least: float = 0.0  # share below which nothing is said
    distinct: int = 1  # values that must fit

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds these values."""
        fits = cells.matches(self.pattern)
        inside = cells.also(fits, self.within) if self.within else fits
        if inside.sum() < self.distinct or cells.share(inside) <= self.least:
            return None
        reason = "shaped" if fits.sum() * 2 >= inside.sum() else "within"
        return cells.found(self.kind, inside, 0.98 if cells.share(inside) >= 0.5 else 0.9, reason)


SIXTH = (  # version 6
    r"(?i)^\[?(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|"
    r"(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?(?:\d{1,3}(?:\.\d{1,3}){3})?)"
    r"\]?(?:%\w+)?(?:/\d{1,3})?(?::\d{1,5})?$"
)


@dataclass(frozen=True)
class IpAddress:
    """Recognise addresses of machines, of both versions; numbers of program versions are none."""

    kind: str = "ip"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds such addresses."""
        octet = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
        four = cells.matches(rf"^(?:[Ii][Pp]\s*[:=]?\s*)?(?:{octet}\.){{3}}{octet}(?:/\d{{1,2}}|:\d{{1,5}})?$")
        if four.any():
            large = cells.texts.filter(pl.Series(four)).head(2000).str.contains(r"(?:^|\.|\D)(?:[4-9]\d|[12]\d\d)(?:\.|$|/|:)")
            if float(large.mean() or 0) < 0.3:  # 2.14.0.3: a version
                four = np.zeros_like(four)
        either = cells.also(four, SIXTH) & ~cells.matches(r"^\W*$")
        return cells.found(self.kind, either, 0.97, "shaped") if either.any() else None


@dataclass(frozen=True)
class VehicleNumber:
    """Recognise vehicle identification numbers: by their check digit, or where there is none by their make."""

    kind: str = "vin"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds such numbers."""
        checked = VIN(cells)
        if checked is not None:
            return checked
        # Makers outside North America and China use the ninth place as they like: makers' codes are left.
        maker = r"^(?:W(?:VW|V[12]|DB|DD|DC|BA|BS|BY|AU|A1|P0|P1|0L|F0|V2|MW)|VF[13678]|VSS|ZF[AF]|ZAR|TMB|NM[0T4]|NLH|SAL|SAJ|SCC|YV1|JT[DEHMN]|KMH|KNA|UU1)"
        made = cells.compact.str.contains(maker + r"[A-HJ-NPR-Z0-9]{11}\d{3}$").to_numpy()
        if made.sum() < FEW or cells.share(made) < 0.5:
            return None
        return cells.found(self.kind, made, 0.85, "shaped")


# Districts of German number plates, as printed on them.
DISTRICTS = (
    "A AA AB ABI AC AE AH AIC AK ALF ALZ AM AN ANA AÖ AP APD ARN ART AS ASL ASZ AT AU AUR AW AZ AZE B BA BAD BAR BB BBG "
    "BC BCH BD BE BED BER BF BGL BH BI BID BIN BIR BIT BIW BK BKS BL BLB BLK BM BN BNA BO BÖ BOH BOR BOT BRA BRB BRG BRI "
    "BRK BRL BRV BS BSB BSK BT BTF BÜD BUL BÜR BÜS BZ BZA C CA CAS CB CE CHA CLP CLZ CO COC COE CR CUX CW D DA DAH DAN DAU "
    "DB DBR DD DE DEG DEL DGF DH DI DIL DIN DIZ DKB DL DLG DM DN DO DON DU DUD DÜW DW DZ E EA EB EBE EBN EBS ECK ED EE EF "
    "EG EI EIC EIH EIL EIN EIS EL EM EMD EMS EN ER ERB ERH ERK ERZ ES ESB ESW EU EW F FB FD FDB FDS FEU FF FFB FG FI FKB "
    "FL FLÖ FN FO FOR FR FRG FRI FRW FS FT FTL FÜ FÜS FW FZ G GA GAN GAP GC GD GDB GE GEL GEO GER GF GG GHA GHC GI GK GL "
    "GLA GM GMN GN GNT GÖ GOA GOH GP GR GRA GRH GRI GRM GRZ GS GT GTH GÜ GUB GUN GV GVM GW GZ H HA HAB HAL HAM HAS HB HBN "
    "HBS HC HCH HD HDH HDL HE HEB HEF HEI HEL HER HET HF HG HGN HGW HH HHM HI HIG HIP HK HL HM HMÜ HN HO HOG HOH HOL HOM "
    "HOR HÖS HOT HP HR HRO HS HSK HST HU HV HVL HWI HX HY HZ IGB IK IL IN IS IZ J JE JL JÜL K KA KB KC KE KEH KEL KEM KF KG "
    "KH KI KIB KK KL KLE KLZ KM KN KO KÖN KÖT KÖZ KR KRU KS KT KU KÜN KUS KW KY KYF L LA LAU LB LBS LBZ LC LD LDK LDS LEO "
    "LER LEV LF LG LH LI LIB LIF LIP LL LM LN LÖ LÖB LOS LP LR LRO LSZ LU LÜN LUP LWL M MA MAB MAI MAK MAL MAR MB MC MD ME "
    "MED MEG MEI MEK MEL MER MET MG MGH MGN MH MHL MI MIL MK ML MM MN MO MOD MOL MON MOS MQ MR MS MSE MSH MSP MST MTK MTL MÜ "
    "MÜB MÜL MÜN MÜR MVL MW MY MYK MZ MZG N NAB NAI NAU NB ND NDH NE NEA NEB NEC NEN NES NEU NEW NF NH NI NK NL NM NMB NMS "
    "NÖ NOH NOL NOM NOR NP NR NRÜ NRW NU NVP NW NWM NY NZ OA OAL OB OBG OC OCH OD OE OF OG OH OHA OHV OHZ OK OL OPR OS OSL "
    "OVI OVL OVP P PA PAF PAN PAR PB PCH PE PEG PF PI PIR PK PL PLÖ PM PN PR PRÜ PS PW PZ QFT QLB R RA RC RD RDG RE REG REH "
    "REI RG RH RI RID RIE RL RM RN RO ROD ROF ROK ROL ROS ROT ROW RP RS RSL RT RU RÜD RÜG RV RW RY RZ S SAB SAD SÄK SAN SAW "
    "SB SBG SBK SC SCZ SDH SDL SDT SE SEB SEE SEF SEL SFB SFT SG SGH SH SHA SHG SHK SHL SI SIG SIM SK SL SLE SLF SLK SLN SLS "
    "SLÜ SLZ SM SN SO SOB SOG SOK SÖM SON SP SPB SPN SR SRB SRO ST STA STB STD STE STL SU SUL SÜW SW SWA SY SZ SZB TBB TDO TE "
    "TET TF TG TIR TO TÖL TP TR TS TÜ TUT UE UEM UER UFF UH UL UM UN USI V VAI VB VEC VER VIB VIE VIT VK VOH VS W WA WAF WAK "
    "WAN WAT WB WBS WDA WE WEB WEG WEL WEN WER WES WF WG WHV WI WIL WIS WIT WIZ WK WL WLG WM WMS WN WND WO WOB WOH WOL WOR WOS "
    "WR WRN WS WSF WST WSW WT WTM WÜ WUG WÜM WUN WUR WW WZ WZL X Y Z ZE ZEL ZI ZIG ZP ZR ZS ZW ZZ"
).split()
PLATES = {
    "TR": r"^(?:0[1-9]|[1-7]\d|8[01])[ -]?(?:[A-PR-VYZ][ -]?\d{4,5}|[A-PR-VYZ]{2}[ -]?\d{3,4}|[A-PR-VYZ]{3}[ -]?\d{2,3})$",
    "DE": rf"^(?:{'|'.join(sorted(DISTRICTS, key=len, reverse=True))})(?:-| - | )[A-Z]{{1,2}}[ -]?[1-9]\d{{0,3}} ?[EH]?$",
    "GB": r"^[A-HJ-PR-Y][A-HJ-PR-Y](?:0[1-9]|1\d|2[0-6]|5[1-9]|6\d|7[0-6]) ?[A-HJ-PR-Z]{3}$",
}


@dataclass(frozen=True)
class Plate:
    """Recognise number plates of Turkey, Germany and the United Kingdom."""

    kind: str = "plate"

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds number plates."""
        capitals = cells.texts.str.to_uppercase()
        for pattern in PLATES.values():
            fits: Mask = capitals.str.contains(pattern).to_numpy()
            shaped = cells.matches(r"(?i)^[\dA-ZÄÖÜ]{1,4}[ -]*[A-Z]{0,3}[ -]*\w{1,5}$")
            tries = int((shaped | fits).sum())
            if fits.sum() < FEW or cells.share(fits) < 0.5 or surprise(int(fits.sum()), tries, 0.25) < 5:
                continue
            starts = capitals.filter(fits).str.slice(0, 2).n_unique()
            if starts >= min(3, int(fits.sum()) // 2):  # one beginning for all is a series of codes
                return cells.found(self.kind, fits, 0.85, "shaped")
        return None


_MAIL = r"[A-Za-z0-9._%+\-çğıöşüÇĞİÖŞÜäÄßéèêàâñ']{1,64}@(?:[A-Za-z0-9çğıöşüäß](?:[A-Za-z0-9çğıöşüäß\-]{0,62})\.)+[A-Za-z]{2,24}"
EMAIL = Shape("email", rf"^(?:mailto:)?{_MAIL}$", rf"(?i)(?:^|[\s<(\[:;,\"'=/]){_MAIL}(?:$|[\s>)\],;:.!?\"'/])")
URL = Shape(
    "url",
    r"(?i)^<?(?:(?:https?|ftp|sftp|file|ws)://\S+|www\.[a-z0-9\-]+\.\S+)$",
    r"(?i)(?:^|[\s<(\"':=])(?:https?://[^\s]{3,}|www\.[a-z0-9\-]+\.[a-z]{2,}|(?:[a-z0-9\-]+\.)+(?:com|org|net|edu|gov|de|tr|uk|io|info)/\S*)",
)
MAC = Shape(
    "mac", r"(?i)^(?:mac\s*[:=]?\s*)?(?:[0-9a-f]{2}([:\-])(?:[0-9a-f]{2}[:\-]){4}[0-9a-f]{2}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})$"
)
UUID = Shape(
    "uuid",
    r"(?i)^(?:urn:uuid:)?[{(]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[)}]?$",
    r"^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{32})$",
)
_DEGREES = r"[-+]?\d{1,3}[.]\d{3,}\s*°?\s*[NSEWnsewOoKkDdBbGg]?"
COORDINATES = Shape(
    "coordinates",
    rf"^[(\[]?(?:lat\w*\s*[:=]?\s*)?{_DEGREES}\s*(?:[,;|/]\s*|\s+)(?:l\w+\s*[:=]?\s*)?{_DEGREES}[)\]]?$|"
    r"(?i)^(?:srid=\d+;)?point\s*z?\s*\(|"
    r"^\d{1,3}\s*°\s*\d{1,2}\s*['′’]\s*(?:\d{1,2}(?:[.,]\d+)?\s*(?:[\"″”]|''))?\s*[NSEWOKDBG]?",
    least=0.2,
)
IP = IpAddress()
VEHICLE = VehicleNumber()
PLATE = Plate()
